#[test]
fn adds_up() {
    assert_eq!(money::Cents(1), money::Cents(1));
}
