// SPDX-License-Identifier: GPL-2.0

//! Health buffers of real cards, word by word: what the layout makes of the bytes is what drivers
//! have printed of them.

use mlx5_prm_host::prm::dump;
use mlx5_prm_host::prm::health::{synd_name, Buffer, Severity, Synd};
use mlx5_prm_host::prm::layout::Layout;
use zerocopy::IntoBytes;

/// A record of a log; words from 20h on, as far as the driver has printed them.
struct Record {
    card: &'static str,
    assert_var: [u32; 6],
    /// 20h, 24h, 2Ch, 30h, 34h, 38h, 3Ch.
    words: [u32; 7],
    firmware: (u8, u8, u16),
    irisc_index: u8,
    synd: u8,
    ext_synd: u16,
    /// What the driver called the failure.
    text: &'static str,
    severity: Severity,
}

const RECORDS: &[Record] = &[
    Record {
        card: "ConnectX-6",
        assert_var: [1, 0x2097ce84, 0, 0, 0, 0],
        words: [0x20a4996c, 0x20a49a10, 0, 0x141a0fac, 0x20f, 0, 0x000740d0],
        firmware: (20, 26, 4012),
        irisc_index: 0,
        synd: 0x7,
        ext_synd: 0x40d0,
        text: "irisc not responding",
        severity: Severity::ERROR,
    },
    Record {
        card: "ConnectX-4 Lx, whose version was printed as 14.26.226",
        assert_var: [0; 6],
        words: [0x0080e428, 0x0080e070, 0, 0xe01a00e2, 0x20b, 0, 0x020700c0],
        firmware: (224, 26, 226),
        irisc_index: 2,
        synd: 0x7,
        ext_synd: 0x00c0,
        text: "irisc not responding",
        severity: Severity::ERROR,
    },
    Record {
        card: "ConnectX-5",
        assert_var: [0xfc3fc043, 0x0001b41c, 0, 0, 0, 0],
        words: [0x008033b4, 0x0080365c, 0, 0x101803e8, 0x20d, 0, 0x0008003d],
        firmware: (16, 24, 1000),
        irisc_index: 0,
        synd: 0x8,
        ext_synd: 0x003d,
        text: "unrecoverable hardware error",
        severity: Severity::ERROR,
    },
    Record {
        card: "ConnectX-5 with time and severity",
        assert_var: [0x08040700, 0, 0, 0, 0, 0],
        words: [
            0x00aaf800, 0x00aaf70c, 1634819758, 0x102001ec, 0x20d, 0x0b000000, 0x0901802b,
        ],
        firmware: (16, 32, 492),
        irisc_index: 9,
        synd: 0x1,
        ext_synd: 0x802b,
        text: "firmware internal error",
        severity: Severity::ERROR,
    },
    Record {
        card: "ConnectX-6 Dx, too hot",
        assert_var: [0x73, 0x73, 0, 0, 0, 0],
        words: [0x20a36f94, 0x20a0e5b4, 0, 0x16631eb8, 0x212, 0, 0x00100000],
        firmware: (22, 99, 7864),
        irisc_index: 0,
        synd: 0x10,
        ext_synd: 0,
        text: "High temperature",
        severity: Severity::ERROR,
    },
    Record {
        card: "ConnectX-6 Dx with time and severity",
        assert_var: [0x0521945b, 0, 0, 0, 0, 0],
        words: [
            0x21492f38, 0x2102d5f0, 1742220438, 0x162c040c, 0x212, 0x0b000000, 0x03018f7a,
        ],
        firmware: (22, 44, 1036),
        irisc_index: 3,
        synd: 0x1,
        ext_synd: 0x8f7a,
        text: "firmware internal error",
        severity: Severity::ERROR,
    },
    Record {
        card: "BlueField-3, of which the rest was not printed",
        assert_var: [0x1e, 0, 0, 0, 0, 0],
        words: [0x20adec54, 0x20adeeb0, 0, 0, 0, 0x0a000000, 0x00010000],
        firmware: (0, 0, 0),
        irisc_index: 0,
        synd: 0x1,
        ext_synd: 0,
        text: "firmware internal error",
        severity: Severity::CRITICAL,
    },
    Record {
        card: "ConnectX-8",
        assert_var: [3, 0, 0, 0, 0, 0],
        words: [0, 0, 196, 0x2830046c, 0x21e, 0x0b000000, 0x0501035e],
        firmware: (40, 48, 1132),
        irisc_index: 5,
        synd: 0x1,
        ext_synd: 0x035e,
        text: "firmware internal error",
        severity: Severity::ERROR,
    },
    Record {
        card: "a device that is gone",
        assert_var: [u32::MAX; 6],
        words: [u32::MAX; 7],
        firmware: (255, 255, 65535),
        irisc_index: 255,
        synd: 0xff,
        ext_synd: 0xffff,
        text: "unrecognized error",
        severity: Severity::DEBUG,
    },
];

/// What this module calls what drivers print so.
const TEXTS: [(&str, Option<Synd>); 5] = [
    ("firmware internal error", Some(Synd::FW_INTERNAL)),
    ("irisc not responding", Some(Synd::DEAD_IRISC)),
    ("unrecoverable hardware error", Some(Synd::HW_FATAL)),
    ("High temperature", Some(Synd::HIGH_TEMPERATURE)),
    ("unrecognized error", None),
];

fn buffer(record: &Record) -> Buffer {
    let mut bytes = [0; 0x40];
    let offsets = [0x20, 0x24, 0x2c, 0x30, 0x34, 0x38, 0x3c];
    let words = (0..)
        .step_by(4)
        .zip(record.assert_var)
        .chain(offsets.into_iter().zip(record.words));
    for (offset, word) in words {
        bytes[offset..offset + 4].copy_from_slice(&word.to_be_bytes());
    }
    Buffer::from(bytes)
}

#[test]
fn records_of_real_cards_decode() {
    for record in RECORDS {
        let buffer = buffer(record);
        let card = record.card;

        assert_eq!(buffer.assert_var(), record.assert_var, "{card}");
        assert_eq!(buffer.assert_exit_ptr(), record.words[0], "{card}");
        assert_eq!(buffer.assert_callra(), record.words[1], "{card}");
        assert_eq!(buffer.time(), record.words[2], "{card}");
        assert_eq!(buffer.fw_version(), record.words[3], "{card}");
        assert_eq!(buffer.hw_id(), record.words[4], "{card}");
        assert_eq!(buffer.rfr(), record.synd == 0xff, "{card}");
        assert_eq!(buffer.crr(), record.synd == 0xff, "{card}");
        assert_eq!(buffer.irisc_index(), record.irisc_index, "{card}");
        assert_eq!(buffer.synd(), record.synd, "{card}");
        assert_eq!(buffer.ext_synd(), record.ext_synd, "{card}");
        assert_eq!(buffer.effective_severity(), record.severity, "{card}");

        let firmware = buffer.firmware();
        let numbers = (firmware.major(), firmware.minor(), firmware.subminor());
        assert_eq!(numbers, record.firmware, "{card}");

        let (_, synd) = TEXTS.iter().find(|(text, _)| *text == record.text).unwrap();
        assert_eq!(
            synd.map(|synd| synd.0),
            synd_name(record.synd.into()).map(|_| record.synd)
        );
    }
}

#[test]
fn dumps_name_what_failed() {
    let mut text = String::new();
    dump::write(
        &mut text,
        Buffer::TABLE,
        Buffer::BAR_OFFSET,
        buffer(&RECORDS[6]).as_bytes(),
    )
    .unwrap();

    assert!(text.contains("0x200 [31:0] assert_var[0]: 0x1e\n"));
    assert!(text.contains("0x238 [26:24] severity: 0x2 (CRITICAL)\n"));
    assert!(text.contains("0x23c [23:16] synd: 0x1 (firmware internal error)\n"));
}

#[test]
fn words_that_no_field_names_are_shown_of_a_device_that_is_gone() {
    let mut text = String::new();
    let gone = Buffer::from([0xff; 0x40]);
    dump::write(
        &mut text,
        Buffer::TABLE,
        Buffer::BAR_OFFSET,
        gone.as_bytes(),
    )
    .unwrap();

    for reserved in ["0x218", "0x21c", "0x228"] {
        assert!(text.contains(&format!("{reserved} reserved: 0xffffffff\n")));
    }
    assert!(text.contains("0x238 reserved: 0x30ffffff\n"));
}

#[test]
fn the_code_that_sources_name_differently_says_so() {
    let name = synd_name(0x0b).unwrap();

    assert!(name.contains("ICM page") && name.contains("fatal hardware"));
    assert_eq!(synd_name(0x02), None);
    assert_eq!(synd_name(0x100), None);
}
