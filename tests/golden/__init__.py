"""What each command of the command line prints, as a reader sees it: on a terminal of 80 and of 120
columns, and in a file. The texts in texts/ are what it has to be; `python3 -m golden`, run in
tests/, writes them anew, and whoever does that reads what has changed.
"""
