from .naive_bayes import NaiveBayes as NaiveBayes
