"""Problems: generators of data sets and loss tables."""
