//! Sketches and sizes of known sets, which are part of the file format (`docs/format.md`, section
//! "Hashes"). If any value here changes, stored signatures become useless.

use super::*;
use crate::hash::{SplitMix, xxh3};
use crate::text::{Normalization, Shingle};

const ENGLISH: &str = "The quick brown fox jumps over the lazy dog.";
const ACCENTS: &str = "Le café est très chaud";
const HINDI: &str = "हिन्दी में लिखा हुआ एक वाक्य";
const CHINESE: &str = "敏捷的棕色狐狸跳过了懒狗的背";
const EMOJI: &str = "👩\u{200d}👩\u{200d}👧\u{200d}👦 A family, an astronaut 👩\u{1f3fd}\u{200d}🚀";
const MARKS: &str = "Z\u{351}\u{36b}a\u{308}\u{334}l\u{327}go\u{301} text";

/// The elements of a set.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// This many words of the generator, with the same number as its seed.
    Random(u64),
    /// The shingles of 9 characters of a text.
    Text(&'static str),
}

struct Golden {
    of: Of,
    /// The packed size of the set.
    size: u32,
    /// For 64, 128, 256 and 512 lanes: the hash of the full-width lanes (4 bytes each,
    /// little-endian) and the first 8 stored bytes.
    sketches: [(u64, [u8; 8]); 4],
}

const LANES: [usize; 4] = [64, 128, 256, 512];

fn sketcher(lanes: usize, seed: u64) -> Sketcher {
    let shingler = Shingler::new(Shingle::chars(9), Normalization::default(), false, 0);
    Sketcher::new(shingler.unwrap(), lanes, seed).unwrap()
}

fn random(count: u64) -> Vec<u64> {
    let mut words = SplitMix::new(count);
    (0..count).map(|_| words.next()).collect()
}

fn pinned(sketch: &Sketch) -> u64 {
    let lanes: Vec<u8> = sketch.lanes().iter().flat_map(|lane| lane.to_le_bytes()).collect();
    xxh3(&lanes)
}

#[test]
fn texts_have_their_golden_sketches_and_sizes() {
    let golden: [Golden; 12] = [
        Golden {
            of: Of::Random(1),
            size: 0x0000_ffff,
            sketches: [
                (0x3f8e_cb4b_799d_2360, [0x01, 0x62, 0x5b, 0x09, 0x44, 0xbe, 0x2a, 0x75]),
                (0x8746_347f_e9b7_7ed7, [0x01, 0x62, 0x5b, 0x09, 0x44, 0xbe, 0x2a, 0x75]),
                (0x7f29_613a_5864_ac19, [0x01, 0x62, 0x5b, 0x09, 0x44, 0xbe, 0x2a, 0x75]),
                (0x0ca7_6d26_7773_6869, [0x01, 0x62, 0x5b, 0x09, 0x44, 0xbe, 0x2a, 0x75]),
            ],
        },
        Golden {
            of: Of::Random(2),
            size: 0x0000_fffe,
            sketches: [
                (0xaa14_0d55_38c0_9b49, [0x22, 0xb0, 0x01, 0x30, 0x71, 0x13, 0x54, 0x53]),
                (0x9d2f_7809_f1d4_13f7, [0x22, 0xb0, 0x01, 0x30, 0x71, 0x13, 0x54, 0x53]),
                (0x3479_6f59_0d1d_2395, [0x22, 0xb0, 0x01, 0x30, 0x71, 0x13, 0x54, 0x53]),
                (0xcd1b_dd1f_8a5b_3a4b, [0x22, 0xb0, 0x01, 0x30, 0x71, 0x13, 0x54, 0x53]),
            ],
        },
        Golden {
            of: Of::Random(20),
            size: 0x0000_ffec,
            sketches: [
                (0xabd8_b2c2_98d1_bdda, [0xc4, 0xcc, 0xa6, 0xdf, 0x0b, 0x5c, 0x2f, 0xff]),
                (0xa377_10a8_ca0e_6a7c, [0x6e, 0x75, 0xa6, 0xf6, 0x93, 0x5c, 0xde, 0x38]),
                (0x8591_45a9_b5ab_3590, [0x4f, 0xcc, 0xe0, 0xf6, 0x93, 0x5c, 0x2f, 0xff]),
                (0xd632_42b1_ef4b_c560, [0x29, 0xf5, 0xa6, 0xf6, 0xbe, 0x5c, 0x2f, 0xff]),
            ],
        },
        Golden {
            of: Of::Random(1_000),
            size: 0x0000_fc23,
            sketches: [
                (0x63d2_840b_1552_3175, [0x10, 0xe7, 0xae, 0x7d, 0x30, 0x90, 0x9b, 0x4a]),
                (0x669d_d876_69a7_728a, [0xac, 0x3c, 0xe5, 0x6e, 0xd8, 0x1f, 0xc0, 0xb1]),
                (0xd57b_c8b0_d933_51e5, [0x8e, 0x21, 0x15, 0xb9, 0xe6, 0xb6, 0xd8, 0x2e]),
                (0x74c2_7af7_fe53_c3cb, [0x36, 0x05, 0x86, 0xb6, 0x6b, 0x0c, 0x93, 0x28]),
            ],
        },
        Golden {
            of: Of::Random(30_000),
            size: 0x0000_a233,
            sketches: [
                (0x6f98_8761_83be_1508, [0x37, 0xa5, 0x1d, 0x4f, 0x1d, 0xd4, 0x86, 0x02]),
                (0x4ab6_1970_d2f2_266e, [0xb0, 0xda, 0xfc, 0x0b, 0x88, 0x55, 0x5b, 0x49]),
                (0xa79e_76e9_1edc_e11e, [0x6b, 0x8d, 0x01, 0xb5, 0x90, 0x69, 0x8e, 0x92]),
                (0x5350_ffe0_ca2e_88c8, [0x54, 0x53, 0x65, 0xfc, 0x35, 0xde, 0xe7, 0xba]),
            ],
        },
        Golden {
            of: Of::Random(100_000),
            size: 0x0400_eea4,
            sketches: [
                (0x97f8_44a4_fb52_1e64, [0xb9, 0xae, 0xef, 0xf7, 0xbd, 0xe9, 0xfe, 0x00]),
                (0x3b55_7b5c_e5ef_3b75, [0x7e, 0x0e, 0xda, 0x5f, 0x4b, 0x6a, 0x36, 0xfc]),
                (0x47fe_f9be_6fc7_d5f7, [0xd3, 0x74, 0xa2, 0xb1, 0x9b, 0xc6, 0x78, 0x51]),
                (0xc6c7_61ca_9f1e_aab3, [0xd6, 0x08, 0x75, 0xf5, 0xba, 0xb4, 0x39, 0xdb]),
            ],
        },
        Golden {
            of: Of::Text(ENGLISH),
            size: 0x0000_ffdc,
            sketches: [
                (0xc601_8134_f82e_7a0e, [0x6a, 0x14, 0xde, 0xd7, 0x28, 0x2c, 0x58, 0xeb]),
                (0x3a8f_843c_9812_551a, [0x96, 0xaa, 0x71, 0xca, 0x2b, 0x35, 0xb1, 0xa9]),
                (0x98ea_af33_b960_1f7c, [0x5b, 0xc0, 0x08, 0x49, 0xb3, 0xed, 0x08, 0x16]),
                (0xf72b_b815_230d_c26f, [0xfe, 0x2d, 0x08, 0x22, 0x83, 0xed, 0x37, 0xad]),
            ],
        },
        Golden {
            of: Of::Text(ACCENTS),
            size: 0x0000_fff2,
            sketches: [
                (0xd283_fa2e_817c_be18, [0x5f, 0x57, 0xd3, 0xec, 0xf4, 0x24, 0x5e, 0x52]),
                (0xc138_d151_44bc_946c, [0x8e, 0xe9, 0x1e, 0x5a, 0xb1, 0x92, 0x6b, 0x82]),
                (0x1dd6_75d9_456d_404a, [0x8e, 0x57, 0x1e, 0x63, 0x8d, 0x46, 0x5e, 0x82]),
                (0xfc13_75b0_a3c1_d369, [0x8e, 0x57, 0x1e, 0x5a, 0x8d, 0x46, 0xcc, 0x82]),
            ],
        },
        Golden {
            of: Of::Text(HINDI),
            size: 0x0000_ffec,
            sketches: [
                (0x3b9f_2593_fec8_39f0, [0xc8, 0x3b, 0x49, 0xb8, 0x25, 0x35, 0x4e, 0xb7]),
                (0x2f0a_b013_c15e_96db, [0xc8, 0x3b, 0xd3, 0xf0, 0xd9, 0x35, 0x04, 0xa1]),
                (0x3dae_eaca_d07a_9b0f, [0xc8, 0x3b, 0xd3, 0xf0, 0x25, 0x35, 0xbf, 0xa1]),
                (0xf878_ee90_0f0d_d010, [0xc8, 0x3b, 0xd3, 0xf0, 0x25, 0x35, 0xbf, 0xa1]),
            ],
        },
        Golden {
            of: Of::Text(CHINESE),
            size: 0x0000_fffa,
            sketches: [
                (0xd52d_eeb2_2b3a_a03a, [0xa2, 0xbb, 0x24, 0x89, 0xaa, 0x9d, 0x50, 0x10]),
                (0x31dd_4fea_cbc7_bd61, [0xa2, 0xbb, 0x24, 0x89, 0xaa, 0x9d, 0x50, 0x10]),
                (0x83ea_6bc4_4353_90d9, [0xa2, 0xbb, 0x24, 0x89, 0xaa, 0x9d, 0x50, 0x10]),
                (0xfe93_d24f_d129_c101, [0xa2, 0xbb, 0x24, 0x89, 0xaa, 0x9d, 0x50, 0x10]),
            ],
        },
        Golden {
            of: Of::Text(EMOJI),
            size: 0x0000_ffe5,
            sketches: [
                (0x177c_1d19_1bc4_75e3, [0xed, 0x07, 0xe5, 0xe8, 0x47, 0x83, 0xa5, 0xb6]),
                (0x46da_de21_cf18_730d, [0x20, 0x48, 0x86, 0xbd, 0xe3, 0x39, 0xa5, 0xb2]),
                (0x14f8_fb8c_5236_bee1, [0x20, 0x07, 0xa6, 0xd7, 0xe3, 0x83, 0x5f, 0x8e]),
                (0x1c89_e3aa_c8d4_a66e, [0x20, 0x07, 0x86, 0xd7, 0xe3, 0xc6, 0xa5, 0xc1]),
            ],
        },
        Golden {
            of: Of::Text(MARKS),
            size: 0x0000_fffb,
            sketches: [
                (0x8d13_a2a7_bfc5_6246, [0x04, 0x15, 0x3e, 0x8f, 0x87, 0x09, 0x70, 0x83]),
                (0x2a53_e2e1_5735_d064, [0x04, 0xa6, 0x3e, 0x60, 0x18, 0x09, 0x70, 0x83]),
                (0xbbd5_7025_4af2_3e1d, [0x04, 0xa6, 0x3e, 0x8f, 0x18, 0x09, 0xf8, 0x83]),
                (0xfc60_58a8_b2e1_6b2e, [0x04, 0xa6, 0x3e, 0x8f, 0x18, 0x09, 0x70, 0x83]),
            ],
        },
    ];
    for Golden { of, size, sketches } in golden {
        for (lanes, (hash, first)) in LANES.into_iter().zip(sketches) {
            let sketcher = sketcher(lanes, 0);
            let (sketch, signature) = match of {
                Of::Random(count) => {
                    let set = random(count);
                    (sketcher.sketch_of_hashes(&set), sketcher.signature_of_hashes(&set))
                }
                Of::Text(text) => {
                    (sketcher.sketch(text).unwrap(), sketcher.signature(text).unwrap())
                }
            };
            let sketch = sketch.unwrap();
            let got = pinned(&sketch);
            assert_eq!(got, hash, "{of:?} in {lanes} lanes gave {got:#018x}");
            assert_eq!(signature.lanes()[..8], first, "{of:?} in {lanes} lanes");
            assert_eq!(signature.lanes(), &*sketch.truncated(), "{of:?} in {lanes} lanes");
            let got = signature.set_size().pack();
            assert_eq!(got, size, "{of:?} gave {got:#010x}");
        }
    }
}

#[test]
fn texts_have_their_golden_sketches_under_a_seed() {
    let golden: [(u64, [u8; 8]); 4] = [
        (0x6ed9_9d3f_c892_b224, [0xba, 0x1b, 0x04, 0x15, 0xe4, 0x8f, 0x6b, 0x3f]),
        (0xfb24_560e_4762_ab83, [0x00, 0x9b, 0xbe, 0x54, 0x42, 0xfa, 0xcf, 0x3f]),
        (0xa37f_e319_e2f3_751d, [0x00, 0xeb, 0xbe, 0x7c, 0x63, 0xfa, 0x4e, 0x3f]),
        (0xb1fb_0889_1d72_2c6c, [0x00, 0xeb, 0xbe, 0x15, 0x63, 0xfa, 0xcf, 0x89]),
    ];
    for (lanes, (hash, first)) in LANES.into_iter().zip(golden) {
        let sketch = sketcher(lanes, 0x0123_4567_89AB_CDEF).sketch_of_hashes(&random(20)).unwrap();
        let got = pinned(&sketch);
        assert_eq!(got, hash, "{lanes} lanes gave {got:#018x}");
        assert_eq!(sketch.truncated()[..8], first, "{lanes} lanes");
    }
}

/// These values let another program verify its generator and make the sets above.
#[test]
fn random_words_have_their_golden_values() {
    assert_eq!(random(2), [0xf8f7_6353_b6d8_77c5, 0x6453_dd52_2580_790d]);
}
