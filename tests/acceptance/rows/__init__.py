"""Rows of unwind tables as readelf reads them, and the analysis of instructions that stands in for
them.
"""
