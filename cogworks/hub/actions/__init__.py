"""What GitHub does when it is asked to: the rules shared by REST, GraphQL and git."""
