"""Crashes as they come: compressed cores, minidumps, stores of crash reporters."""
