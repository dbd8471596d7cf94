"""Tables, figures and the HTML page of results."""
