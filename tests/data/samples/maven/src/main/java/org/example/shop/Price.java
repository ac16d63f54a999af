package org.example.shop;

/** An amount in cents. */
public final class Price {
    private final long cents;

    private Price(long cents) {
        this.cents = cents;
    }

    public static Price of(long cents) {
        return new Price(cents);
    }

    /** Of a text such as {@code 1.50}. */
    public static Price parse(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("no price");
        }
        String[] parts = text.split("\\.", 2);
        String part = parts.length > 1 ? (parts[1] + "00").substring(0, 2) : "00";
        return of(Long.parseLong(parts[0]) * 100 + Long.parseLong(part));
    }

    public Price plus(Price other) {
        return of(cents + other.cents);
    }

    public long cents() {
        return cents;
    }
}
