"""What users rely on, by subject; each folder says what it holds. `test_install.py` is a subject by
itself.
"""
