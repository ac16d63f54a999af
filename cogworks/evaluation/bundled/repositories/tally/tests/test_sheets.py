from tally import total


def test_amounts_add_up():
    assert total("1.00\n2.50\n") == 350


def test_a_comment_behind_an_amount():
    assert total("1.00  # coffee\n") == 100
