"""One cell: fit on the training rows, predict the test rows, judge the predictions."""
