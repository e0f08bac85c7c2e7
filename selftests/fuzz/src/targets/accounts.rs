// SPDX-License-Identifier: GPL-2.0

//! Accounts of pages under any numbers that a device may say.

use super::print;
use crate::input::Input;
use mlx5_prm_host::cmd::ledger::{
    self,
    Account,
    Function, //
};

/// Books what the bytes say, and the same with numbers that cannot overflow.
pub fn run(input: &mut Input<'_>) {
    const TOP: u128 = u64::MAX as u128;
    let functions: Vec<Function> = (0..input.u8() % 5)
        .map(|id| Function {
            embedded_cpu: id & 1 != 0,
            id: u16::from(id / 2),
        })
        .collect();
    let mut accounts: Vec<Account> = functions.iter().map(|one| Account::new(*one)).collect();
    let mut naive = vec![[0u128; 3]; functions.len()];

    while !input.is_empty() {
        let what = input.u8();
        if what == 0 {
            ledger::close(&mut accounts);
            for [held, _, returned] in &mut naive {
                *returned = (*returned + *held).min(TOP);
                *held = 0;
            }
            continue;
        }
        let function = Function {
            embedded_cpu: what & 1 != 0,
            id: u16::from(what >> 1 & 3),
        };
        let mut number = || input.u64() >> (input.u8() % 64);
        let (given, returned) = (number(), number());
        ledger::book(&mut accounts, function, given, returned);
        if let Some(place) = functions.iter().position(|one| *one == function) {
            let [held, all_given, all_returned] = &mut naive[place];
            *held = (*held + u128::from(given))
                .min(TOP)
                .saturating_sub(returned.into());
            *all_given = (*all_given + u128::from(given)).min(TOP);
            *all_returned = (*all_returned + u128::from(returned)).min(TOP);
        }
    }

    let sum: u128 = naive.iter().map(|[held, ..]| held).sum();
    assert_eq!(u128::from(ledger::held(&accounts)), sum.min(TOP));
    let mut expected = format!("held: {}\nlimit: 7\n", sum.min(TOP));
    for (function, [held, given, returned]) in functions.iter().zip(&naive) {
        expected += &format!("{function}: held {held} given {given} returned {returned}\n");
    }
    assert_eq!(print(|w| ledger::write(w, &accounts, 7)), expected);
}
