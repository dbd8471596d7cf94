"""Yildiz and Alpaydin 2006: five learners on 30 data sets, and the best by four procedures.

The learners in this package imitate the paper's, including its mistakes, as far as the printed
figures reveal them. They only serve to reproduce the tables; otherwise use `bestofk.learners`.
"""
