"""What `swzverify lsp` says of a text that is being typed; `server` alone knows the protocol and pygls.

Lines and columns count from 1, and columns count characters, as in problems of specs.
"""
