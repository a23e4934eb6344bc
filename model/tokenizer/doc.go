// Package tokenizer turns text into token ids and back exactly as the
// reference implementation does, for byte-level BPE files (tokenizer.json) of
// Qwen3, Qwen2, Llama 3 and GPT-2 style, and renders chat messages to text.
//
// The file is parsed here and the encoder is our own. Stages of Encode, in
// order: ill-formed UTF-8 becomes U+FFFD; added tokens are cut out (leftmost,
// longest, on the raw text); what lies between is normalised (NFC or nothing),
// split into words by a hand-written scanner of the file's split expression,
// and each word is merged by rank, then position. No stage takes more than
// linear time but the merge of one word, which takes n log n in its length.
//
// The module github.com/sugarme/tokenizer stands beside it as a set of types:
// Components hands out this package's stages as its interfaces. Its loaders
// and encoders are never called; sugarme_test.go names the inputs on which
// they go wrong.
package tokenizer
