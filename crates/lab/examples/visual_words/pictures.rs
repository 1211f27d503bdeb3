//! Makes pictures, and altered copies of them.

use image::codecs::jpeg::JpegEncoder;
use image::imageops::{blur, crop_imm};
use image::{GrayImage, ImageFormat, ImageResult, Luma, load_from_memory_with_format};
use imageproc::drawing::{
    draw_filled_circle_mut, draw_filled_rect_mut, draw_line_segment_mut, draw_polygon_mut,
};
use imageproc::geometric_transformations::{Border, Interpolation, rotate_about_center};
use imageproc::point::Point;
use imageproc::rect::Rect;
use std::fmt;

/// The pixels of a side.
const SIDE: u32 = 256;

/// A picture of shapes and stripes in front of a gradient. The same number gives the same picture.
pub(crate) fn picture(number: u64) -> GrayImage {
    let mut random = fastrand::Rng::with_seed(number);
    let (across, down) = (random.f32() * 0.4, random.f32() * 0.4);
    let shade = |x: u32, y: u32| Luma([(40.0 + across * x as f32 + down * y as f32) as u8]);
    let mut picture = GrayImage::from_fn(SIDE, SIDE, shade);
    for _ in 0..random.u32(35..55) {
        let gray = Luma([random.u8(..)]);
        let mut place = || random.i32(0..SIDE as i32);
        let (x, y, size) = (place(), place(), 6 + place() / 6);
        match random.u32(..4) {
            0 => draw_filled_circle_mut(&mut picture, (x, y), size / 2, gray),
            1 => {
                let rect = Rect::at(x, y).of_size(size as u32, 6 + random.u32(..40));
                draw_filled_rect_mut(&mut picture, rect, gray);
            }
            2 => {
                let (a, b) = (random.i32(5..30), random.i32(5..30));
                let corners =
                    [Point::new(x, y), Point::new(x + size, y + a), Point::new(x - b, y + size)];
                draw_polygon_mut(&mut picture, &corners, gray);
            }
            _ => {
                for stripe in 0..4 {
                    let (x, y) = (x as f32 + 5.0 * stripe as f32, y as f32);
                    draw_line_segment_mut(&mut picture, (x, y), (x + size as f32, y + 30.0), gray);
                }
            }
        }
    }
    blur(&picture, 0.7)
}

/// What is done to a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Alteration {
    /// Turned by so many degrees; the corners are filled with gray.
    Turned(f32),
    /// Cut off: so many hundredths of the width and of the height.
    Cropped(u32),
    /// Compressed as JPEG with this quality.
    Jpeg(u8),
    /// Made brighter, or darker.
    Brighter(i32),
}

pub(crate) const ALTERATIONS: [Alteration; 11] = [
    Alteration::Jpeg(90),
    Alteration::Jpeg(50),
    Alteration::Jpeg(10),
    Alteration::Cropped(10),
    Alteration::Cropped(25),
    Alteration::Turned(10.0),
    Alteration::Turned(45.0),
    Alteration::Turned(90.0),
    Alteration::Turned(180.0),
    Alteration::Brighter(30),
    Alteration::Brighter(-30),
];

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turned(degrees) => write!(f, "turned {degrees}"),
            Self::Cropped(hundredths) => write!(f, "cropped {hundredths} %"),
            Self::Jpeg(quality) => write!(f, "jpeg {quality}"),
            Self::Brighter(by) if *by < 0 => write!(f, "darker by {}", -by),
            Self::Brighter(by) => write!(f, "brighter by {by}"),
        }
    }
}

/// An altered copy.
pub(crate) fn altered(picture: &GrayImage, alteration: Alteration) -> ImageResult<GrayImage> {
    Ok(match alteration {
        Alteration::Turned(degrees) => {
            let border = Border::Constant(Luma([128]));
            rotate_about_center(picture, degrees.to_radians(), Interpolation::Bilinear, border)
        }
        Alteration::Cropped(hundredths) => {
            let (width, height) = picture.dimensions();
            let (cut_x, cut_y) = (width * hundredths / 100, height * hundredths / 100);
            let (x, y) = (cut_x / 2, cut_y / 2);
            crop_imm(picture, x, y, width - cut_x, height - cut_y).to_image()
        }
        Alteration::Jpeg(quality) => {
            let mut bytes = Vec::new();
            JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(picture)?;
            load_from_memory_with_format(&bytes, ImageFormat::Jpeg)?.into_luma8()
        }
        Alteration::Brighter(by) => {
            let brighter = |pixel: &Luma<u8>| (i32::from(pixel.0[0]) + by).clamp(0, 255) as u8;
            let mut copy = picture.clone();
            copy.pixels_mut().for_each(|pixel| *pixel = Luma([brighter(pixel)]));
            copy
        }
    })
}
