"""What is found in programs of other compilers, held against what they themselves say of them.

`python3 -m compilers` in tests/ is the campaign over all that the system and build/compilers have
(scripts/later-compilers puts them there); a short form is test_compilers.py.
"""
