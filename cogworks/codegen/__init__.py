"""How code and tests of a work item come about: what is asked, tried as a transaction, proven and handed over."""
