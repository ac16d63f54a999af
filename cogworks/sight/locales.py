"""Files that are about one language of people, in a tree that has files for several: `fr_FR/`, `de.js`, `pt-BR.ts`."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

_LOCALE = re.compile(r"(?P<language>[a-z]{2})(?:[_-](?:[A-Z][a-z]{3}[_-])?(?:[A-Z]{2}|[a-z]{2}))?")
_LEAST_LANGUAGES = 4
"""A folder called `fr` alone is hardly for a language."""
_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z][a-z]{3,11}(?![A-Za-z])")
_LOCALE_SAID = re.compile(r"(?<![A-Za-z])([a-z]{2})[_-][A-Z]{2}(?![A-Za-z])")
_CODES: Mapping[str, str] = {
    "afrikaans": "af",
    "albanian": "sq",
    "arabic": "ar",
    "armenian": "hy",
    "azerbaijani": "az",
    "basque": "eu",
    "belarusian": "be",
    "bengali": "bn",
    "bosnian": "bs",
    "brazilian": "pt",
    "breton": "br",
    "bulgarian": "bg",
    "catalan": "ca",
    "chinese": "zh",
    "croatian": "hr",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "esperanto": "eo",
    "estonian": "et",
    "finnish": "fi",
    "french": "fr",
    "galician": "gl",
    "georgian": "ka",
    "german": "de",
    "greek": "el",
    "gujarati": "gu",
    "hebrew": "he",
    "hindi": "hi",
    "hungarian": "hu",
    "icelandic": "is",
    "indonesian": "id",
    "irish": "ga",
    "italian": "it",
    "japanese": "ja",
    "kannada": "kn",
    "kazakh": "kk",
    "korean": "ko",
    "latvian": "lv",
    "lithuanian": "lt",
    "macedonian": "mk",
    "malay": "ms",
    "malayalam": "ml",
    "marathi": "mr",
    "mongolian": "mn",
    "nepali": "ne",
    "norwegian": "no nb nn",
    "persian": "fa",
    "polish": "pl",
    "portuguese": "pt",
    "punjabi": "pa",
    "romanian": "ro",
    "russian": "ru",
    "serbian": "sr",
    "slovak": "sk",
    "slovenian": "sl",
    "spanish": "es",
    "swahili": "sw",
    "swedish": "sv",
    "tamil": "ta",
    "telugu": "te",
    "thai": "th",
    "turkish": "tr",
    "ukrainian": "uk",
    "urdu": "ur",
    "uzbek": "uz",
    "vietnamese": "vi",
    "welsh": "cy",
}
"""English name of a language -> its code by ISO 639-1, several with blanks between them."""
_KNOWN = frozenset(" ".join(_CODES.values()).split())


def of_named_languages(text: str, paths: Iterable[str]) -> dict[int, float]:
    """Place of each path that is for a language which the text names -> 1; empty where the paths are for few languages."""
    words = {word for word in _WORD.findall(text) if word != "polish"}
    codes = (code for word in words for code in _CODES.get(word.lower(), "").split())
    named = {*codes, *_LOCALE_SAID.findall(text)} & _KNOWN
    if not named:
        # Most requests name none, and a tree may have many thousand paths.
        return {}
    places: dict[str, list[int]] = defaultdict(list)
    for place, path in enumerate(paths):
        for language in _languages_of(path):
            places[language].append(place)
    if len(places) < _LEAST_LANGUAGES:
        return {}
    return {place: 1.0 for language in named for place in places.get(language, ())}


def _languages_of(path: str) -> set[str]:
    *folders, name = path.split("/")
    locales = (_LOCALE.fullmatch(part) for part in (*folders, name.partition(".")[0]))
    return {each["language"] for each in locales if each and each["language"] in _KNOWN}
