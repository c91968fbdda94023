"""Words that say nothing of what a page is about: the, of, to. They are not marked in what is shown of a hit."""

from collections.abc import Iterable, Sequence

AROUND = ".,;:!?()[]{}<>\"'“”‘’«»„…"  # what may stand around a word

STOP_WORDS = {
    "English": """
        a about after all also am an and any are as at be because been before being between both but by can could did
        do does doing down during each few for from further had has have having he her here hers him his how i if in
        into is it its itself just many may me might more most much must my no nor not now of off on once one only or
        other our out over own per shall she should so some such than that the their them then there these they this
        those through to too under until up us very was we were what when where which while who whom whose why will
        with would you your
    """,
    "German": """
        ab aber alle als also am an auch auf aus bei bin bis da damit dann das dass dem den der des die dies diese
        dieser dieses doch du durch ein eine einem einen einer eines er es für haben hat hatte ich ihm ihn ihr im in
        ist ja kann kein keine man mit nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so über um
        und uns unter vom von vor wann war waren warum was weil welche wenn wer werden wie wir wird wo wurde zu zum
        zur zwischen
    """,
    "French": """
        à au aux avec ce ces cet cette chez comme comment dans de des donc dont du elle elles en entre est et était
        être eux fait il ils je la le les leur leurs lui mais me même mes mon ne nos notre nous on ont ou où par pas
        plus pour pourquoi qu quand que quel quelle qui sa sans se ses si son sont sous sur ta te tu un une vos votre
        vous y
    """,
    "Spanish": """
        a al algo ante como con contra cual cuando de del desde donde durante e el ella ellos en entre era es esa ese
        eso esta está este esto ha han hasta hay la las le les lo los más me mi mientras muy no nos o os otra otro
        para pero por porque que qué quien se ser si sí sin sobre son su sus también te tiene tu un una uno y ya yo
    """,
    "Italian": """
        a ai al alla alle allo anche che chi ci come con cosa cui da dai dal dalla dalle de degli dei del della delle
        dello di dove e è ed era essere fra gli ha hanno i il in io la le lei lo loro lui ma mi nei nel nella nelle
        nello non o per perché più quale quando quanto quella quello questa questo se si sono su sua sue sul sulla
        suo suoi tra un una uno
    """,
    "Portuguese": """
        a à ao aos as às até com como da das de dela dele do dos e é ela ele eles em entre era essa esse esta está
        este eu foi há isso isto já lhe mais mas me mesmo muito na nas não nem no nos nós o os ou para pela pelas
        pelo pelos por porque qual quando que quem se sem ser seu seus são só sua suas também te tem um uma você
    """,
    "Dutch": """
        aan al als bij dan dat de den der deze die dit doch door een en er ge geen had heb hebben heeft het hij hoe
        hun ik in is ja je kan maar me meer men met mijn na naar niet nog nu of om omdat onder ons ook op over te tot
        u uit van veel voor waar wanneer want waren was wat we wel werd wie wij wordt ze zich zij zijn zo zou
    """,
}
LISTS = [frozenset(words.split()) for words in STOP_WORDS.values()]


def bare(word: str) -> str:
    """A word without what stands around it, in small letters: "Clock?" is clock; a mark alone is ""."""
    return word.strip(AROUND).casefold()


def stop_words_of(words: Iterable[str]) -> frozenset[str]:
    """The stop words of the language of some bare words: of that list which has most of them, else English."""
    distinct = frozenset(words)
    return max(LISTS, key=lambda stop_words: len(stop_words & distinct))


def says_nothing(words: Sequence[str]) -> list[bool]:
    """Whether each word of a text says nothing: a stop word of its language, or no letter and no digit."""
    bare_words = [bare(word) for word in words]
    stop_words = stop_words_of(bare_words)
    return [word in stop_words or not _has_letters(word) for word in bare_words]


def _has_letters(word: str) -> bool:
    return any(map(str.isalnum, word))
