package org.example.amounts;

/** What is added to an amount of cents. */
public final class Tax {
    private final int percent;

    public Tax(int percent) {
        if (percent < 0) {
            throw new IllegalArgumentException("a tax of " + percent + " %");
        }
        this.percent = percent;
    }

    public long of(long cents) {
        return cents * percent / 100;
    }
}
