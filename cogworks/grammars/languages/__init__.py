"""One file for each language or family of languages; `registry` names them all."""
