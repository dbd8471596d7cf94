"""The release gate: is a new build worse than the anchor?"""
