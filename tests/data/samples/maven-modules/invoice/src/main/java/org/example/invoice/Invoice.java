package org.example.invoice;

import java.util.ArrayList;
import java.util.List;
import org.example.amounts.Tax;

/** What a customer owes. */
public final class Invoice {
    private final List<Long> items = new ArrayList<>();
    private final Tax tax;

    public Invoice(Tax tax) {
        this.tax = tax;
    }

    public Invoice with(long cents) {
        items.add(cents);
        return this;
    }

    public long total() {
        long sum = items.stream().mapToLong(Long::longValue).sum();
        return sum + tax.of(sum);
    }
}
