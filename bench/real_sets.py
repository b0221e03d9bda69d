"""Four sets of tasks for small real models: 150 tasks each, made from a seed.

Each set has a seed skill that says what to do and not how, and a skill with all rules as
somebody writes them by hand. Both and the tasks were written before anything was trained
on them.
"""

import random

SUPPLIERS = "Delta Orion Mercer Halden Lumen Castor Brixton Verity Solano Ardent Kepler Norwood".split()
MONTHS = "January February March April May June July August September October November December".split()
CURRENCIES = [("euros", "EUR"), ("dollars", "USD"), ("pounds", "GBP")]
COLOURS = "green black blue red white grey".split()
GOODS = "marker folder lamp stapler cable notebook".split()
NUMBERS = "two three four five six seven eight nine ten eleven twelve".split()
FIRST = "Maria Jonas Priya Elena Tomas Aisha Victor Nadia Oscar Helen Pavel Ruth".split()
LAST = "Lopez Brandt Patel Novak Costa Rahman Lind Petrov Hughes Moreau Fischer Okoye".split()
TEAMS = "sales legal finance design support research".split()

TICKETS = {
    "AMBER-3": [
        "I was charged twice for {m}.", "The invoice of {m} shows a plan that I do not have.", "My card was declined though it is valid.",
        "Please send me a receipt for the payment in {m}.", "The discount for {m} is missing on my bill.", "Why did the price go up in {m}?",
    ],
    "SLATE-1": [
        "I cannot sign in since {m}.", "The code for the second factor never comes.", "My account is locked after three attempts.",
        "The link to set a new password has expired.", "{f} left and we need access to that account.", "The app forgets me every time I close it.",
    ],
    "CORAL-8": [
        "The parcel that I ordered in {m} has not come.", "The box was open when the driver brought it.", "Tracking has said 'in transit' since {m}.",
        "You sent {n} lamps and I ordered one.", "Please deliver to my neighbour {f} instead.", "The courier left my order at the wrong house.",
    ],
    "IVORY-5": [
        "Please end my subscription at the end of {m}.", "I do not want to renew.", "Close my account and delete what you hold of me.",
        "We move to another product in {m}, so stop our plan.", "{f} no longer needs the licence, take it away.", "How do I cancel the trial before {m}?",
    ],
}


def ledger(r):
    name, month, day, year = r.choice(SUPPLIERS), r.randrange(12), r.randrange(1, 28), r.choice([2024, 2025, 2026])
    words, code = r.choice(CURRENCIES)
    amount = r.choice([r.randrange(5, 400), r.randrange(500, 40000) / 100])
    form = r.choice([
        "{name} sent a bill of {amount} {words} on {day} {month} {year}.",
        "On {month} {day}, {year} we paid {amount} {words} to {name}.",
        "Invoice from {name}, dated {day} {month} {year}: {amount} {words}.",
        "{amount} {words} went to {name} on {day} {month} {year}.",
    ])
    shown = f"{amount:.2f}" if isinstance(amount, float) else str(amount)
    text = form.format(name=name, amount=shown, words=words, day=day, month=MONTHS[month], year=year)
    return text, f"{year}-{month + 1:02}-{day:02} | {name.upper()} | {code} {float(amount):.2f}"


def queue(r):
    code = r.choice(sorted(TICKETS))
    text = r.choice(TICKETS[code]).format(m=r.choice(MONTHS), f=r.choice(FIRST), n=r.choice(NUMBERS))
    opening = r.choice(["", "Hello, ", "Hi team, ", "Good morning. ", "Urgent: ", "To whom it may concern: "])
    closing = r.choice(["", " Thanks.", " Please help.", f" {r.choice(FIRST)} {r.choice(LAST)}", " This is the second time I write."])
    return opening + text + closing, code


def label(r):
    n, colour, good, aisle = r.randrange(2, 13), r.choice(COLOURS), r.choice(GOODS), r.randrange(1, 60)
    word = NUMBERS[n - 2] if r.random() < 0.5 else str(n)
    form = r.choice([
        "Put {word} {colour} {good}s on aisle {aisle}.", "Aisle {aisle} needs {word} {colour} {good}s.",
        "{word} {good}s, {colour}, for aisle {aisle}.", "Please move {word} of the {colour} {good}s to aisle {aisle}.",
    ])
    text = form.format(word=word, colour=colour, good=good, aisle=aisle)
    return text[0].upper() + text[1:], f"A{aisle:02}/{good.upper()}/{colour[:2].upper()}/{n}"


def contact(r):
    first, last, team = r.choice(FIRST), r.choice(LAST), r.choice(TEAMS)
    area, number = r.randrange(20, 99), r.randrange(100000, 999999)
    form = r.choice([
        "{first} {last} works in {team}, phone 0{area} {number}.", "Call 0{area} {number} and ask for {first} {last} of the {team} team.",
        "New in {team}: {first} {last} (0{area} {number}).", "The {team} team has {first} {last} on 0{area} {number}.",
    ])
    text = form.format(first=first, last=last, team=team, area=area, number=number)
    return text, f"{last.upper()}, {first[0]}. [{team.upper()}] +44-{area}-{number}"


def skill(name, description, body):
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


SETS = {
    "ledger": (
        ledger,
        "Turn the note into a ledger line. Reply with the line alone.",
        """Turn the note into a ledger line. Reply with the line alone.

- The line has three parts, with " | " between them: date, supplier, amount.
- Write the date as YYYY-MM-DD.
- Write the supplier in capital letters.
- Write the amount as the currency code (EUR, USD or GBP), a space, and the number with two decimals.""",
    ),
    "queue": (
        queue,
        "Assign the ticket to a queue. Reply with the code of the queue alone.",
        """Assign the ticket to a queue. Reply with the code of the queue alone.

- AMBER-3: bills, payments, prices and receipts.
- SLATE-1: signing in, passwords and access to accounts.
- CORAL-8: parcels, delivery and wrong or damaged goods.
- IVORY-5: ending a subscription, a plan, a trial or an account.""",
    ),
    "label": (
        label,
        "Write the stock label for the request. Reply with the label alone.",
        """Write the stock label for the request. Reply with the label alone.

- The label has four parts, with "/" between them: aisle, item, colour, number.
- Write the aisle as A and two digits.
- Write the item in capital letters, in the singular.
- Write the first two letters of the colour in capital letters.
- Write the number in digits.""",
    ),
    "contact": (
        contact,
        "Write the entry of the phone list. Reply with the entry alone.",
        """Write the entry of the phone list. Reply with the entry alone.

- First the last name in capital letters, a comma, and the first letter of the first name with a full stop.
- Then the team in capital letters, in square brackets.
- Then the number: +44, a hyphen, the area code without its 0, a hyphen, and the rest.""",
    ),
}


def tasks(name, count=150):
    """Returns different tasks of a set."""
    r, out, seen = random.Random(f"skillopt {name}"), [], set()
    while len(out) < count:
        prompt, gold = SETS[name][0](r)
        if prompt not in seen:
            seen.add(prompt)
            out.append({"id": f"{name}-{len(out) + 1:03}", "prompt": prompt, "gold": gold})
    return out


def skills(name):
    """Returns the seed skill and the one with all rules."""
    about = SETS[name][1].split(".")[0] + "."
    return skill(name, about, SETS[name][1]), skill(name, about, SETS[name][2])
