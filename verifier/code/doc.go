// Package code judges programs that models write: it takes the program out of
// a reply, runs it in the sandbox once for each test, and compares what it
// printed or returned with what was expected.
//
// Three kinds of test are told apart. Tests on stdin compare standard output,
// tests of a function compare the value it returns; in both the expected value
// stays on the host, and every test has a freshly rewound guest. Tests made of
// assertions (HumanEval, MBPP) can only run beside the program: they are made
// hard to cheat, and their verdicts are marked as less trusted.
package code
