use basket::Basket;
use money::Cents;

#[test]
fn adds_up() {
    assert_eq!(Basket::default().add(Cents(150)).add(Cents(200)).total(), Cents(350));
}
