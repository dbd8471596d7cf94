"""Yildiz and Alpaydin 2006: five learners on 30 data sets, and which procedure finds the best.

The learners here are the paper's own, slips included, as far as they can be read off the printed
figures. They serve to obtain the tables again; for other use there are `bestofk.learners`.
"""
