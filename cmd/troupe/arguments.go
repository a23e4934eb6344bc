package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// overridesLast moves KEY=VALUE arguments behind the flags, for the parser takes
// them only in one piece. The order among them stays.
func overridesLast(k *kong.Kong, args []string) []string {
	var rest, overrides []string
	node := k.Model.Node
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(append(rest, overrides...), args[i:]...)
		case strings.HasPrefix(a, "-"):
			rest = append(rest, a)
			if i+1 < len(args) && needsValue(node, a) {
				i++
				rest = append(rest, args[i])
			}
		case strings.Contains(a, "=") && takesOverrides(node):
			overrides = append(overrides, a)
		default:
			rest = append(rest, a)
			node = childOf(node, a)
		}
	}
	return append(rest, overrides...)
}

// needsValue reports whether a flag's value is the next argument.
func needsValue(node *kong.Node, arg string) bool {
	name := strings.TrimPrefix(arg, "--")
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if f.Name == name {
				return !f.IsBool()
			}
		}
	}
	return false
}

func takesOverrides(node *kong.Node) bool {
	for _, p := range node.Positional {
		if p.Name == "key=value" {
			return true
		}
	}
	return false
}

// childOf is the subcommand of a name, or the node itself.
func childOf(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name {
			return c
		}
	}
	return node
}
