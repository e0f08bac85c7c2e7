// SPDX-License-Identifier: GPL-2.0

//! Accounts of pages.

use mlx5_prm_host::cmd::ledger::{book, close, held, write, Account, Function};

const OWN: Function = Function {
    embedded_cpu: false,
    id: 0,
};
const HOST: Function = Function {
    embedded_cpu: true,
    id: 3,
};

fn text(accounts: &[Account]) -> String {
    let mut text = String::new();
    write(&mut text, accounts, 1024).unwrap();
    text
}

#[test]
fn pages_are_booked_by_function() {
    let mut accounts = [Account::new(OWN), Account::new(HOST)];
    book(&mut accounts, OWN, 768, 0);
    book(&mut accounts, HOST, 10, 0);
    book(&mut accounts, OWN, 0, 68);
    assert_eq!(held(&accounts), 710);
    assert_eq!(
        text(&accounts),
        "held: 710\nlimit: 1024\nfunction 0: held 700 given 768 returned 68\n\
         embedded CPU function 3: held 10 given 10 returned 0\n"
    );
    close(&mut accounts);
    assert_eq!(held(&accounts), 0);
    assert!(text(&accounts).contains("function 0: held 0 given 768 returned 768\n"));
}

#[test]
fn no_number_overflows_and_none_is_below_zero() {
    let mut accounts = [Account::new(OWN), Account::new(HOST)];
    for _ in 0..2 {
        book(&mut accounts, OWN, u64::MAX, 0);
        book(&mut accounts, HOST, u64::MAX, 0);
    }
    assert_eq!(held(&accounts), u64::MAX);
    book(&mut accounts, OWN, 0, u64::MAX);
    book(&mut accounts, OWN, 0, 1);
    book(&mut accounts, HOST, 0, u64::MAX);
    assert_eq!(held(&accounts), 0);
}
