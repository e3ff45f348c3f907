// Package claudeask translates Claude Code's permission requests, questions and plans into requests
// without its formats, and people's choices into the output of its hook.
//
// It guarantees:
//   - Each field of the input is in a block, a page or a grant, otherwise the request is not Whole
//     (P9).
//   - A choice permits exactly the grants that it lists.
//   - A decision is made only of an answer to the content that was shown (P7): of the same digest.
package claudeask
