"""Problems whose truth is known: generators of data sets and of tables of losses."""
