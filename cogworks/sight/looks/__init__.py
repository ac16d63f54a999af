"""What a model may ask to see before it answers, and to have tried.

- `schema` says what a look is, `showing` what each gives, `running` what tests say, `governed` carries out a turn under the policy.
"""
