"""Code generation: propose, apply, test, keep or roll back."""
