"""Attacks on loopback, one file for each row of the table in docs/threat-model.md.

An attack is written from the adversary's side: it does what somebody with the source at hand would do, and asserts that he
got nothing. Each succeeded once, or succeeds again when its control is taken out.
"""
