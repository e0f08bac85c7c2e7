// SPDX-License-Identifier: GPL-2.0

//! One output of QUERY_ESW_FUNCTIONS, in either layout, as one view.
//!
//! # Enabled SFs
//!
//! No driver whose source is public reads the list of enabled SFs, so the order of its bits could
//! not be confirmed. It is read here as the manual's other bit lists are (such as the event mask of
//! CREATE_EQ): 64-bit big-endian words, SF `i` being bit `i` modulo 64 of word `i` / 64, counted
//! from the least significant. The words themselves are shown beside it.

use core::ops::RangeInclusive;
use zerocopy::FromBytes;

use crate::prm::{
    bits,
    esw::{
        HostParamsContext,
        NetworkFunctionParams,
        PfType,
        QueryEswFunctionsMod,
        QueryEswFunctionsOut,
        SfEnable,
        VhcaState, //
    },
    layout::Layout, //
};

/// A physical function of a host behind the switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// Whose PF it is.
    pub kind: PfType,
    /// Number of the host.
    pub host_number: u8,
    /// The host has no PF; the other values mean nothing then.
    pub pf_not_exist: bool,
    /// The PF is disabled, and all vports of its host with it.
    pub pf_disabled: bool,
    /// VFs that the host has enabled.
    pub num_of_vfs: u16,
    /// VFs that the host can enable.
    pub total_vfs: u16,
    /// The PF's PCI bus, if it is assigned.
    pub bus: Option<u16>,
    /// The PF's PCI device.
    pub device: u16,
    /// The PF's PCI function.
    pub function: u16,
    /// Number of the PF in the device, if it is valid.
    pub vhca_id: Option<u16>,
    /// State of the PF in the device; only V1 has it.
    pub vhca_state: Option<VhcaState>,
    /// From the PF's PCI function to the first VF's, and from one VF's to the next, if valid.
    pub vf_offset_and_stride: Option<(u16, u16)>,
}

impl Function {
    /// VFs that count as enabled.
    ///
    /// A disabled PF disables every vport of its host, whatever the number of VFs holds.
    pub fn effective_vfs(&self) -> u16 {
        if self.pf_disabled || self.pf_not_exist {
            0
        } else {
            self.num_of_vfs
        }
    }

    fn legacy(context: &HostParamsContext) -> Self {
        Self {
            kind: PfType::EXTERNAL_HOST,
            host_number: context.host_number(),
            pf_not_exist: context.host_pf_not_exist(),
            pf_disabled: context.host_pf_disabled(),
            num_of_vfs: context.host_num_of_vfs(),
            total_vfs: context.host_total_vfs(),
            bus: Some(context.host_pci_bus()),
            device: context.host_pci_device(),
            function: context.host_pci_function(),
            vhca_id: context
                .host_pf_vhca_id_valid()
                .then(|| context.host_pf_vhca_id()),
            vhca_state: None,
            vf_offset_and_stride: context.host_pci_vf_info_valid().then(|| {
                (
                    context.host_pci_first_vf_offset(),
                    context.host_pci_vf_stride(),
                )
            }),
        }
    }

    fn v1(params: &NetworkFunctionParams) -> Self {
        let state = VhcaState(params.vhca_state());
        let pci = params.pci();

        Self {
            kind: PfType(params.pci_pf_type()),
            host_number: params.host_number(),
            pf_not_exist: false,
            // As the kernel's driver has it: in any other state the function is not usable.
            pf_disabled: state != VhcaState::IN_USE,
            num_of_vfs: params.pci_num_vfs(),
            total_vfs: params.pci_total_vfs(),
            bus: params
                .pci_bus_assigned()
                .then(|| u16::from(params.pci_bus())),
            device: u16::from(pci.device()),
            function: u16::from(pci.function()),
            vhca_id: Some(params.vhca_id()),
            vhca_state: Some(state),
            vf_offset_and_stride: params
                .pci_vf_info_valid()
                .then(|| (params.pci_first_vf_offset(), params.pci_vf_stride())),
        }
    }
}

/// A view of an output; what is shown of it stays as the device gave it.
///
/// V1 has no list of SFs. A device with V1 is asked for the legacy layout as well, for its list.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    op_mod: QueryEswFunctionsMod,
    output: &'a [u8],
    /// The output in the legacy layout that has the list of SFs, if there is one.
    with_list: Option<&'a [u8]>,
}

impl<'a> Snapshot<'a> {
    /// Looks at the whole output of a query with `op_mod`, from its first byte on.
    pub fn new(op_mod: QueryEswFunctionsMod, output: &'a [u8]) -> Self {
        Self {
            op_mod,
            output,
            with_list: (op_mod != QueryEswFunctionsMod::V1).then_some(output),
        }
    }

    /// Takes the list of SFs from another output, which is in the legacy layout.
    #[must_use]
    pub fn with_list_of(self, output: Option<&'a [u8]>) -> Self {
        Self {
            with_list: output.or(self.with_list),
            ..self
        }
    }

    /// Whether there is a list of SFs.
    pub fn has_list(&self) -> bool {
        self.with_list.is_some()
    }

    /// The output that has the list of SFs, if it is another one.
    pub fn other_output(&self) -> Option<&'a [u8]> {
        self.with_list.filter(|_| self.is_v1())
    }

    /// The layout of the output.
    pub fn op_mod(&self) -> QueryEswFunctionsMod {
        self.op_mod
    }

    /// The output.
    pub fn output(&self) -> &'a [u8] {
        self.output
    }

    /// Whether the output is in the V1 layout.
    pub fn is_v1(&self) -> bool {
        self.op_mod == QueryEswFunctionsMod::V1
    }

    /// How many functions the device says there are.
    pub fn announced(&self) -> usize {
        if !self.is_v1() {
            return 1;
        }
        QueryEswFunctionsOut::read_from_prefix(self.output)
            .map_or(0, |(out, _)| usize::from(out.net_function_num()))
    }

    /// The functions that the output has room for, of those that the device says there are.
    pub fn functions(&self) -> impl Iterator<Item = Function> + 'a {
        let v1 = self.is_v1();

        self.contexts().map(move |context| {
            if v1 {
                Function::v1(&read(context))
            } else {
                Function::legacy(&read(context))
            }
        })
    }

    /// The bytes of each function, with the offset at which they begin.
    pub fn contexts(&self) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.output
            .get(QueryEswFunctionsOut::CONTEXT..)
            .unwrap_or_default()
            .chunks_exact(HostParamsContext::TABLE.size)
            .take(self.announced())
    }

    /// Whether an external host has a PF.
    pub fn has_host(&self) -> bool {
        self.functions()
            .any(|function| function.kind == PfType::EXTERNAL_HOST && !function.pf_not_exist)
    }

    /// The words of the list of enabled SFs, if there is one.
    pub fn sf_words(&self) -> impl Iterator<Item = u64> + 'a {
        self.sf_list()
            .chunks_exact(SfEnable::TABLE.size)
            .map(|word| bits::get(word, 0, 63, 0))
    }

    /// A word of the list of enabled SFs; 0 behind its end.
    pub fn sf_word(&self, index: usize) -> u64 {
        self.sf_list()
            .chunks_exact(SfEnable::TABLE.size)
            .nth(index)
            .map_or(0, |word| bits::get(word, 0, 63, 0))
    }

    /// The enabled SFs as runs of indexes, in ascending order; see the [module](self).
    pub fn sfs(&self) -> Runs<impl Fn(usize) -> u64 + 'a> {
        let this = *self;

        Runs::new(self.sf_words().count(), move |index| this.sf_word(index))
    }

    fn sf_list(&self) -> &'a [u8] {
        self.with_list
            .and_then(|output| output.get(QueryEswFunctionsOut::SF_ENABLE..))
            .unwrap_or_default()
    }
}

/// The layouts of the context and of the V1 entry have the same size; the loop above relies on it.
const _: () = assert!(HostParamsContext::TABLE.size == NetworkFunctionParams::TABLE.size);

/// Reads a layout from bytes that have its size.
fn read<L: Layout>(bytes: &[u8]) -> L {
    L::read_from_prefix(bytes).map_or_else(|_| L::new_zeroed(), |(value, _)| value)
}

/// The bits that are set in a list of words, as runs of neighbours, in ascending order.
///
/// Bit `i` of the list is bit `i` modulo 64 of word `i` / 64.
pub struct Runs<F> {
    word: F,
    next: u32,
    end: u32,
}

impl<F: Fn(usize) -> u64> Runs<F> {
    /// Looks at `count` words.
    pub fn new(count: usize, word: F) -> Self {
        Self {
            word,
            next: 0,
            end: u32::try_from(count)
                .unwrap_or(u32::MAX)
                .saturating_mul(u64::BITS),
        }
    }

    fn is_set(&self, bit: u32) -> bool {
        // CAST: An index of 32 bits fits.
        let word = (self.word)((bit / u64::BITS) as usize);

        word & bits::single(bit) != 0
    }
}

impl<F: Fn(usize) -> u64> Iterator for Runs<F> {
    type Item = RangeInclusive<u32>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = (self.next..self.end).find(|bit| self.is_set(*bit));
        let Some(first) = first else {
            self.next = self.end;
            return None;
        };
        let behind = (first..self.end)
            .find(|bit| !self.is_set(*bit))
            .unwrap_or(self.end);

        self.next = behind;
        Some(first..=behind.saturating_sub(1))
    }
}
