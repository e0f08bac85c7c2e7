// SPDX-License-Identifier: GPL-2.0

//! Commands that real cards were sent, and how they answered, from the logs of their drivers.

use mlx5_prm_host::prm::boot::{NopIn, NopOut, TeardownHcaIn, TeardownHcaOut, TeardownProfile};
use mlx5_prm_host::prm::dump;
use mlx5_prm_host::prm::layout::{Input, Layout};
use mlx5_prm_host::prm::opcode::Opcode;
use mlx5_prm_host::prm::status::Status;
use zerocopy::FromBytes;

/// Turns the words of a printed dump into bytes.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The first line of each CREATE_QP input of a ConnectX-4 (linux-rdma, July 2022; firmware
/// 12.28.2006), and the whole output.
const CREATE_QP: &[([u32; 4], [u32; 4])] = &[
    ([0x05000002, 0, 0, 0], [0, 0, 0x00040121, 0]),
    ([0x05000002, 0, 0, 0], [0, 0, 0x00040122, 0]),
    ([0x05000002, 0, 0, 0], [0x05000000, 0x0065b500, 0, 0]),
    ([0x05000002, 0, 0, 0], [0x05000000, 0x0065b500, 0, 0]),
    ([0x05000002, 0, 0, 0], [0, 0, 0x00040122, 0]),
    ([0x05000002, 0, 0, 0], [0x05000000, 0x0065b500, 0, 0]),
    ([0x05000002, 0, 0, 0], [0, 0, 0x00023be6, 0]),
    ([0x05000002, 0, 0, 0], [0, 0, 0x00023be7, 0]),
    ([0x05000002, 0, 0, 0], [0x05000000, 0x0065b500, 0, 0]),
];

#[test]
fn headers_of_real_commands_decode() {
    for (input, output) in CREATE_QP {
        // Every input and every output begins alike; those of NOP have nothing else.
        let input = NopIn::read_from_bytes(&bytes(input)).unwrap();
        assert_eq!(Opcode(input.opcode()), Opcode::CREATE_QP);
        assert_eq!(Opcode(input.opcode()).to_string(), "CREATE_QP(0x500)");
        assert_eq!(input.uid(), 2);
        assert_eq!(input.op_mod(), 0);

        let answer = NopOut::read_from_bytes(&bytes(output)).unwrap();
        let failed = output[0] != 0;
        assert_eq!(Status(answer.status()).is_ok(), !failed);
        if failed {
            assert_eq!(Status(answer.status()), Status::BAD_RESOURCE);
            assert_eq!(answer.syndrome(), 0x65b500);
        }
    }
}

#[test]
fn a_failed_output_is_dumped_with_its_meaning() {
    let mut text = String::new();
    dump::write(&mut text, NopOut::TABLE, 0, &bytes(&CREATE_QP[2].1)).unwrap();

    assert_eq!(
        text,
        "0x000 [31:24] status: 0x5 (bad resource)\n0x004 [31:0] syndrome: 0x65b500\n"
    );
}

/// TEARDOWN_HCA with force (netdev, July 2021): the card reports that it could not.
#[test]
fn a_forced_stop_that_failed_decodes() {
    let input = TeardownHcaIn::read_from_bytes(&bytes(&[0x01030000, 0, 1, 0])).unwrap();
    assert_eq!(Opcode(input.opcode()), Opcode::TEARDOWN_HCA);
    assert_eq!(TeardownProfile(input.profile()), TeardownProfile::FORCE);

    let output = TeardownHcaOut::read_from_bytes(&bytes(&[0, 0, 0, 1])).unwrap();
    assert!(Status(output.status()).is_ok());
    assert!(output.state());

    let mut ours = TeardownHcaIn::new();
    ours.set_profile(TeardownProfile::FORCE.0)
        .set_header(Opcode::TEARDOWN_HCA.0, 0);
    assert_eq!(<[u8; 16]>::from(ours), <[u8; 16]>::from(input));
}

/// Failures that mlx5_core has logged: opcode, op_mod, status and syndrome, as it names them.
const FAILURES: &str = "
    CREATE_QP(0x500) op_mod(0x0): bad resource(0x5) (0x65b500)
    CREATE_QP(0x500) op_mod(0x0): bad resource(0x5) (0x65b500)
    CREATE_EQ(0x301) op_mod(0x0): bad parameter(0x3) (0x8fef)
    SET_FLOW_TABLE_ENTRY(0x936) op_mod(0x0): bad parameter(0x3) (0x8708c3)
    SET_FLOW_TABLE_ENTRY(0x936) op_mod(0x0): bad parameter(0x3) (0x8708c3)
    SET_FLOW_TABLE_ENTRY(0x936) op_mod(0x0): bad parameter(0x3) (0xcdb051)
    SET_FLOW_TABLE_ENTRY(0x936) op_mod(0x0): bad parameter(0x3) (0xaca205)
    SET_FLOW_TABLE_ENTRY(0x936) op_mod(0x0): bad parameter(0x3) (0x144b7a)
    DESTROY_FLOW_TABLE(0x931) op_mod(0x0): bad parameter(0x3) (0x389e56)
    DESTROY_FLOW_GROUP(0x934) op_mod(0x0): bad resource state(0x9) (0x563e2f)
    DEALLOC_MODIFY_HEADER_CONTEXT(0x941) op_mod(0x0): bad resource state(0x9) (0x1ab444)
    DEALLOC_MODIFY_HEADER_CONTEXT(0x941) op_mod(0x0): bad resource state(0x9) (0x1ab444)
    DEALLOC_PACKET_REFORMAT_CONTEXT(0x93e) op_mod(0x0): bad resource state(0x9) (0x179e84)
    DEALLOC_PD(0x801) op_mod(0x0): bad resource state(0x9) (0xef0c8a)
    DEALLOC_PD(0x801) op_mod(0x0): bad resource state(0x9) (0x31b635)
    2RST_QP(0x50a) op_mod(0x0): bad resource state(0x9) (0x7ea02d)
    ENABLE_HCA(0x104) op_mod(0x0): bad resource state(0x9) (0x658908)
    CREATE_DCT(0x710) op_mod(0x0): bad parameter(0x3) (0xa22b82)
    CREATE_SQ(0x904) op_mod(0x0): bad parameter(0x3) (0xd61c0b)
    CREATE_LAG(0x840) op_mod(0x0): bad parameter(0x3) (0x7d49cb)
    CREATE_LAG(0x840) op_mod(0x0): bad parameter(0x3) (0x7d49cb)
    SET_ROCE_ADDRESS(0x761) op_mod(0x0): bad parameter(0x3) (0x63c66)
    CREATE_GENERAL_OBJECT(0xa00) op_mod(0xd): bad resource(0x5) (0xf6db90)
    CREATE_GENERAL_OBJECT(0xa00) op_mod(0xd): bad parameter(0x3) (0x5fa1c)
    QUERY_HCA_CAP(0x100) op_mod(0x40): bad parameter(0x3) (0x5add95)
    QUERY_HCA_CAP(0x100) op_mod(0x0): bad parameter(0x3) (0x3a3846)
    ACCESS_REG(0x805) op_mod(0x1): bad parameter(0x3) (0x1e5585)
    ACCESS_REG(0x805) op_mod(0x1): bad resource(0x5) (0x305684)
    ACCESS_REG(0x805) op_mod(0x1): bad operation(0x2) (0x9a6171)
    ACCESS_REG(0x805) op_mod(0x1): bad operation(0x2) (0x305684)
    ACCESS_REG(0x805) op_mod(0x1): bad system state(0x4) (0x685f19)
    ACCESS_REG(0x805) op_mod(0x0): bad resource(0x5) (0xb06e1f)
    CREATE_MKEY(0x200) op_mod(0x0): limits exceeded(0x8) (0x59c8a4)
    CREATE_MKEY(0x200) op_mod(0x0): bad parameter(0x3) (0x35e6ec)
    RTR2RTS_QP(0x504) op_mod(0x0): bad parameter(0x3) (0x4bb88f)
";

/// Opcodes of commands that have timed out on real cards.
const TIMEOUTS: &str = "
    TEARDOWN_HCA(0x103) MANAGE_PAGES(0x108) ENABLE_HCA(0x104) CREATE_DCT(0x710)
    QUERY_VPORT_COUNTER(0x770) DESTROY_QP(0x501) QUERY_Q_COUNTER(0x773) DESTROY_CQ(0x401)
    ACCESS_REG(0x805) 2RST_QP(0x50a)
";

/// The number in `NAME(0xNUMBER)`, at the beginning of `text` or after it.
fn code(text: &str) -> u64 {
    let (_, rest) = text.split_once("(0x").unwrap();
    let (number, _) = rest.split_once(')').unwrap();
    u64::from_str_radix(number, 16).unwrap()
}

#[test]
fn real_failures_read_the_same_here() {
    let lines: Vec<_> = FAILURES
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(lines.len(), 35);

    for line in lines {
        let (_, op_mod) = line.split_once(" op_mod").unwrap();
        let (_, status) = line.split_once(": ").unwrap();
        let (status_name, _) = status.split_once('(').unwrap();
        let (_, syndrome) = line.rsplit_once(' ').unwrap();

        // As the card had them in memory.
        let mut input = NopIn::new();
        input.set_header(
            u16::try_from(code(line)).unwrap(),
            u16::try_from(code(op_mod)).unwrap(),
        );
        let mut output = NopOut::new();
        output
            .set_status(u8::try_from(code(status)).unwrap())
            .set_syndrome(u32::try_from(code(syndrome)).unwrap());

        // As it is shown: the names that mlx5_core has printed.
        assert!(
            line.starts_with(&format!("{} ", Opcode(input.opcode()))),
            "{line}"
        );
        assert_eq!(Status(output.status()).name(), Some(status_name), "{line}");
        assert!(
            line.ends_with(&format!(" ({:#x})", output.syndrome())),
            "{line}"
        );
    }
}

#[test]
fn commands_that_timed_out_have_names() {
    for name in TIMEOUTS.split_whitespace() {
        assert_eq!(Opcode(u16::try_from(code(name)).unwrap()).to_string(), name);
    }
    assert_eq!(Opcode(0xfff).to_string(), "unknown(0xfff)");
    assert_eq!(Status(0xf).name(), Some("no resources"));
}
