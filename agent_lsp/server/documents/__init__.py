"""The documents that the client holds open, as it tells of them with `textDocument/did*`.

Not pygls' text documents: those end a line wherever Python does (form feed, U+2028), so that every position behind such
a character is off, and lsprotocol takes hundreds of milliseconds to import, which here nothing needs.
"""
