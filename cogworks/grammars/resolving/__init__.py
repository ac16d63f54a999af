"""To which files of the repository an import leads, one way for each family of languages; nothing is run or installed."""
