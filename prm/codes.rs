// SPDX-License-Identifier: GPL-2.0

//! Lists of codes: a number from the device, and the names that the manual gives it.
//!
//! A newer device may send other numbers; they are values like the others, without a name.

/// Declares a type for a list of codes: `CONSTANT = NUMBER "in words",`.
///
/// Any number is a value of the type, known or not; `name` says whether the manual has words for
/// it, and `name_of` is the same for the tables of [`layout!`](crate::layout).
#[macro_export]
macro_rules! codes {
    (
        $(#[$doc:meta])*
        $vis:vis struct $type:ident($repr:ty) {
            $($(#[$about:meta])* $ident:ident = $code:literal $name:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        $vis struct $type(pub $repr);

        impl $type {
            $(
                #[doc = concat!("`", $name, "`.")]
                #[doc = ""]
                $(#[$about])*
                pub const $ident: Self = Self($code);
            )*

            /// The codes that have a name.
            pub const ALL: &'static [Self] = &[$(Self($code),)*];

            /// The code in words, if the manual has it.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some($name),)*
                    _ => None,
                }
            }

            /// The words for a value of a field.
            pub fn name_of(code: u64) -> Option<&'static str> {
                <$repr>::try_from(code).ok().and_then(|code| Self(code).name())
            }
        }
    };
}
