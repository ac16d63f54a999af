package org.example.invoice;

import static org.junit.Assert.assertEquals;

import java.util.Arrays;
import java.util.Collection;
import org.example.amounts.Tax;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class InvoiceTest {
    @Parameterized.Parameters(name = "{0} cents")
    public static Collection<Object[]> amounts() {
        return Arrays.asList(new Object[][] {{100L, 107L}, {200L, 214L}});
    }

    private final long cents;
    private final long wanted;

    public InvoiceTest(long cents, long wanted) {
        this.cents = cents;
        this.wanted = wanted;
    }

    @Test
    public void addsTheTax() {
        assertEquals(wanted, new Invoice(new Tax(7)).with(cents).total());
    }
}
