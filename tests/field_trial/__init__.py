"""The field trial: programs of Debian 12 deep in real work, each dumped at random moments, and
whocall's walks scored against what is known of the frames. See `__main__.py`.
"""
