package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class PricesTest {
    @Test
    void addsUp() {
        assertEquals(3, Prices.total(1, 2));
    }

    @Nested
    class Empty {
        @Test
        void isNothing() {
            assertEquals(0, Prices.total());
        }
    }
}
