"""A vector of how music sounds, so that what sounds alike is near: 56 numbers from its spectrum, standardised.

Timbre, tone against noise, and harmony: mean and deviation of 13 MFCCs (26 numbers), median contrast and valleys of the
spectrum in 6 bands (12), mean and deviation of centroid, flux and zero crossings (6), pitch classes from the tonic up
(12). The sound is brought to one loudness first, so that a quieter master is the same music, and pitch classes are
counted from the tonic, so that a song and its transposition are near.

Each number is then centred and scaled by how it varied in rendered music of ten styles (CENTRE, SPREAD), so that all
weigh alike, a vector means the same in every collection, and distances (Euclid) need no figures of the collection.
Vectors of different VERSION cannot be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobbko.audio.decoding import RATE

if TYPE_CHECKING:
    import numpy

    Samples = numpy.typing.NDArray[numpy.float32]

VERSION = 1
SIZE = 56
#: Samples; a frame is 46 ms, and every other 46 ms are looked at.
_FRAME, _HOP = 2048, 4096
#: Root mean square of the samples that is looked at, as a share of full scale.
_LOUDNESS = 0.1
#: Means and standard deviations of 240 rendered pieces; pitch classes have twice theirs, since harmony counts less.
CENTRE = (
    *(-685.5, 139.5, -15.94, 24.99, -1.62, -0.01424, -5.174, -1.635),
    *(-3.923, -1.407, -0.3261, 1.333, 0.359, 93.25, 42.09, 27.91),
    *(20.81, 17.19, 14.67, 14.28, 13.26, 13.05, 13.49, 13.2),
    *(13.87, 14.11, -0.6083, -0.5899, -0.5748, -0.6099, -0.6716, -0.7861),
    *(-5.707, -6.442, -7.592, -8.203, -8.82, -9.865, 2641, 0.1068),
    *(0.05826, 1283, 0.06367, 0.02661, 0.903, 0.06893, 0.5423, 0.3116),
    *(0.4468, 0.4215, 0.1332, 0.8818, 0.2264, 0.4452, 0.201, 0.3769),
)
SPREAD = (
    *(41.13, 37.95, 26.72, 20.49, 15.8, 9.981, 10.75, 10.6),
    *(7.58, 7.489, 6.985, 6.658, 5.451, 17.92, 11.48, 8.819),
    *(6.03, 4.524, 3.955, 4.135, 3.916, 3.905, 4.1, 4.27),
    *(4.865, 4.629, 0.05919, 0.06641, 0.05909, 0.06628, 0.09194, 0.0612),
    *(0.745, 0.515, 0.6304, 0.5888, 0.7324, 1.185, 979.6, 0.02525),
    *(0.01844, 474.5, 0.01269, 0.01303, 0.3818, 0.3818, 0.3818, 0.3818),
    *(0.3818, 0.3818, 0.3818, 0.3818, 0.3818, 0.3818, 0.3818, 0.3818),
)


def spectral(algorithms: Any, samples: Samples) -> tuple[float, list[float]]:
    """The mean spectral centroid in Hz, and what the spectrum gives to the vector: 44 numbers as they are."""
    import numpy

    gain = numpy.float32(_LOUDNESS / max(1e-9, float(samples.std(dtype="f8"))))
    window, spectrum = algorithms.Windowing(type="hann"), algorithms.Spectrum(size=_FRAME)
    mfcc = algorithms.MFCC(inputSize=_FRAME // 2 + 1, sampleRate=RATE)
    contrast = algorithms.SpectralContrast(frameSize=_FRAME, sampleRate=RATE)
    centroid, flux = algorithms.Centroid(range=RATE / 2), algorithms.Flux()
    crossings = algorithms.ZeroCrossingRate()
    colours, contrasts, movement = [], [], []
    for frame in algorithms.FrameGenerator(samples * gain, frameSize=_FRAME, hopSize=_HOP):
        if float(frame.max() - frame.min()) <= 1e-4:
            continue
        of_frame = spectrum(window(frame))
        colours.append(mfcc(of_frame)[1])
        contrasts.append(numpy.concatenate(contrast(of_frame)))
        movement.append((centroid(of_frame), flux(of_frame), crossings(frame)))
    if not colours:
        return 0.0, [0.0] * 44
    # Contrast has a pole where a band is as loud as 1: a median, since one frame near it would be all of a mean.
    rows = (*_means_and_deviations(colours), numpy.median(contrasts, axis=0), *_means_and_deviations(movement))
    return float(numpy.mean([row[0] for row in movement])), [float(value) for value in numpy.concatenate(rows)]


def standardised(spectrum: list[float], hpcp: list[float]) -> list[float]:
    """The vector: the figures of `spectral`, then the pitch classes from the tonic up, in units of how they vary."""
    figures = zip([*spectrum, *hpcp], CENTRE, SPREAD, strict=True)
    return [round(min(5.0, max(-5.0, (value - centre) / spread)), 4) for value, centre, spread in figures]


def _means_and_deviations(rows: list[Any]) -> tuple[Any, Any]:
    import numpy

    return numpy.mean(rows, axis=0), numpy.std(rows, axis=0)
