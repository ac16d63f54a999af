package org.example.amounts;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class TaxTest {
    @Test
    public void isAShare() {
        assertEquals(190, new Tax(19).of(1000));
    }

    @Test(expected = IllegalArgumentException.class)
    public void isNeverNegative() {
        new Tax(-1);
    }

    @Ignore("not decided yet")
    @Test
    public void mayHaveSteps() {}
}
