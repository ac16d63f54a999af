"""From the texts of a repository to what is installed, what is built and which command runs the tests: pure rules."""
