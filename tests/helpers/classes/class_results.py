"""The results of a small class, as the grader writes them."""

CHAPTER = "02_rejection_sampling"
NO_STOP = "one rejection costs one token, and the walk goes on."


def exercise(passed: int, *causes: str) -> dict:
    return {
        "score": float(passed),
        "max_score": 4.0,
        "passed": passed,
        "total": 4,
        "messages": ["a message"] * (4 - passed),
        "causes": list(causes),
    }


def result(first: dict, second: dict) -> dict:
    return {
        "status": "graded",
        "reason": None,
        "score": first["score"] + second["score"],
        "max_score": 8.0,
        "pending": ["why_residual"],
        "exercises": {"acceptance_probability": first, "speculative_accept": second},
    }


def class_grades() -> dict:
    blank = result(exercise(0), exercise(0)) | {"status": "failed", "reason": "<b>a link</b>"}
    students = {
        "ada": result(exercise(4), exercise(4)),
        "ben": result(exercise(1, "of before"), exercise(2, NO_STOP)),
        "<script>cleo": result(exercise(3, "of before"), exercise(4)),
        "dan": blank,
    }
    return {student: {CHAPTER: graded} for student, graded in students.items()}
