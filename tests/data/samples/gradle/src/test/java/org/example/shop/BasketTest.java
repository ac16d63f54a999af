package org.example.shop;

import static org.junit.Assert.assertEquals;

import java.util.Arrays;
import java.util.Collection;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class BasketTest {
    private final int count;

    public BasketTest(int count) {
        this.count = count;
    }

    @Parameterized.Parameters(name = "{0} pieces")
    public static Collection<Object[]> counts() {
        return Arrays.asList(new Object[][] {{0}, {3}});
    }

    @Test
    public void addsUp() {
        Basket basket = new Basket();
        for (int each = 0; each < count; each++) {
            basket.add(Price.of(100));
        }
        assertEquals(100L * count, basket.total().cents());
    }
}
