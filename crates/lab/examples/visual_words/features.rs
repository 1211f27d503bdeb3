//! Describes the corners of a picture by bits that turn with it: FAST corners at several scales
//! with an orientation, and comparisons of pixels (Calonder and others 2010; Rublee and others
//! 2011).

use image::GrayImage;
use image::imageops::{FilterType, resize};
use imageproc::corners::{Corner, corners_fast9};
use imageproc::filter::gaussian_blur_f32;
use imageproc::suppress::local_maxima;
use std::cmp::Reverse;
use std::f32::consts::FRAC_1_SQRT_2;

/// The comparisons of a patch, one bit each.
pub(crate) type Bits = [u64; 4];

/// The radius of a patch in pixels. A corner lies at least so far from the edge.
const RADIUS: i32 = 15;

/// The side of each scale, relative to the picture.
const SCALES: [f32; 3] = [1.0, FRAC_1_SQRT_2, 0.5];

/// The most corners of a scale.
const CORNERS: usize = 120;

/// The least difference of brightness of a corner, of 255.
const CONTRAST: u8 = 20;

/// A place in a patch, relative to its centre.
type Place = (f32, f32);

/// The places in a patch that are compared, two for each bit.
pub(crate) struct Patterns(Vec<(Place, Place)>);

impl Patterns {
    /// Draws the places from a normal law, within the patch.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut place = || loop {
            // A sum of twelve uniform numbers is nearly normal, with the deviation 1.
            let mut normal = || (0..12).map(|_| random.f32()).sum::<f32>() - 6.0;
            let (x, y) = (5.0 * normal(), 5.0 * normal());
            if x.hypot(y) < (RADIUS - 2) as f32 {
                break (x, y);
            }
        };
        Self((0..u64::BITS * 4).map(|_| (place(), place())).collect())
    }

    /// The bits of the corners of a picture.
    pub(crate) fn describe(&self, picture: &GrayImage) -> Vec<Bits> {
        let mut all = Vec::new();
        for scale in SCALES {
            let side = |pixels: u32| (pixels as f32 * scale).round() as u32;
            let (width, height) = (side(picture.width()), side(picture.height()));
            let scaled = resize(picture, width, height, FilterType::Triangle);
            let smooth = gaussian_blur_f32(&scaled, 2.0);
            for corner in corners(&scaled) {
                all.push(self.bits(&smooth, corner, orientation(&smooth, corner)));
            }
        }
        all
    }

    fn bits(&self, smooth: &GrayImage, corner: Corner, angle: f32) -> Bits {
        let (sin, cos) = angle.sin_cos();
        let pixel = |(x, y): Place| {
            let (x, y) = (x * cos - y * sin, x * sin + y * cos);
            at(smooth, corner, x.round() as i32, y.round() as i32)
        };
        let mut bits = [0; 4];
        for (number, (a, b)) in self.0.iter().enumerate() {
            let bit = u64::from(pixel(*a) < pixel(*b));
            bits[number / 64] |= bit << (number % 64);
        }
        bits
    }
}

/// The strongest corners, each the strongest of its neighbourhood.
fn corners(picture: &GrayImage) -> Vec<Corner> {
    let mut corners = local_maxima(&corners_fast9(picture, CONTRAST), 4);
    let edge = RADIUS as u32 + 1;
    let inside = |place: u32, side: u32| place >= edge && place + edge < side;
    corners.retain(|it| inside(it.x, picture.width()) && inside(it.y, picture.height()));
    corners.sort_by_key(|corner| (Reverse(corner.score as u32), corner.x, corner.y));
    corners.truncate(CORNERS);
    corners
}

/// The direction from a corner to the centre of brightness of the disc around it.
fn orientation(smooth: &GrayImage, corner: Corner) -> f32 {
    let (mut across, mut down) = (0.0, 0.0);
    for y in -RADIUS..=RADIUS {
        for x in -RADIUS..=RADIUS {
            if x * x + y * y <= RADIUS * RADIUS {
                let brightness = f32::from(at(smooth, corner, x, y));
                across += x as f32 * brightness;
                down += y as f32 * brightness;
            }
        }
    }
    down.atan2(across)
}

/// A pixel beside a corner.
fn at(picture: &GrayImage, corner: Corner, x: i32, y: i32) -> u8 {
    let place = |at: u32, by: i32| at.saturating_add_signed(by);
    picture.get_pixel_checked(place(corner.x, x), place(corner.y, y)).map_or(0, |it| it.0[0])
}
