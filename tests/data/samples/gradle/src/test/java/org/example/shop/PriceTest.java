package org.example.shop;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class PriceTest {
    @Test
    public void parsesParts() {
        assertEquals(150, Price.parse("1.5").cents());
    }

    @Test(expected = IllegalArgumentException.class)
    public void refusesNothing() {
        Price.parse("");
    }

    @Ignore("not yet")
    @Test
    public void readsCurrencies() {
        assertEquals(100, Price.parse("1 EUR").cents());
    }
}
