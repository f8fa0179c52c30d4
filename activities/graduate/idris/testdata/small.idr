module Session670f2c5f4b8e15d4

import Data.So

data EntryId : Type where
  MkEntryId : String -> EntryId

data TaskId : Type where
  MkTaskId : String -> TaskId

data EventId : Type where
  MkEventId : String -> EventId

data EvidenceSpan : Type where
  MkEvidenceSpan : EventId -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> String -> String -> String -> String -> String -> String -> String -> String -> EvidenceSpan

data Candidate : Type where
  MkCandidate : EntryId -> TaskId -> String -> String -> Int -> Int -> Int -> List String -> List String -> List EvidenceSpan -> Candidate

spanEvent : EvidenceSpan -> String
spanEvent (MkEvidenceSpan (MkEventId x) _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = x

spanFound : EvidenceSpan -> Int
spanFound (MkEvidenceSpan _ x _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = x

spanMessage : EvidenceSpan -> Int
spanMessage (MkEvidenceSpan _ _ x _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = x

spanStart : EvidenceSpan -> Int
spanStart (MkEvidenceSpan _ _ _ x _ _ _ _ _ _ _ _ _ _ _ _ _ _) = x

spanEnd : EvidenceSpan -> Int
spanEnd (MkEvidenceSpan _ _ _ _ x _ _ _ _ _ _ _ _ _ _ _ _ _) = x

spanSize : EvidenceSpan -> Int
spanSize (MkEvidenceSpan _ _ _ _ _ x _ _ _ _ _ _ _ _ _ _ _ _) = x

spanRuneStart : EvidenceSpan -> Int
spanRuneStart (MkEvidenceSpan _ _ _ _ _ _ x _ _ _ _ _ _ _ _ _ _ _) = x

spanRuneEnd : EvidenceSpan -> Int
spanRuneEnd (MkEvidenceSpan _ _ _ _ _ _ _ x _ _ _ _ _ _ _ _ _ _) = x

spanRunesToStart : EvidenceSpan -> Int
spanRunesToStart (MkEvidenceSpan _ _ _ _ _ _ _ _ x _ _ _ _ _ _ _ _ _) = x

spanRunesToEnd : EvidenceSpan -> Int
spanRunesToEnd (MkEvidenceSpan _ _ _ _ _ _ _ _ _ x _ _ _ _ _ _ _ _) = x

spanText : EvidenceSpan -> String
spanText (MkEvidenceSpan _ _ _ _ _ _ _ _ _ _ x _ _ _ _ _ _ _) = x

spanSource : EvidenceSpan -> String
spanSource (MkEvidenceSpan _ _ _ _ _ _ _ _ _ _ _ x _ _ _ _ _ _) = x

spanQuoted : EvidenceSpan -> String
spanQuoted (MkEvidenceSpan _ _ _ _ _ _ _ _ _ _ _ _ x _ _ _ _ _) = x

spanHeld : EvidenceSpan -> String
spanHeld (MkEvidenceSpan _ _ _ _ _ _ _ _ _ _ _ _ _ x _ _ _ _) = x

spanStoredHash : EvidenceSpan -> String
spanStoredHash (MkEvidenceSpan _ _ _ _ _ _ _ _ _ _ _ _ _ _ x _ _ _) = x

spanSourceHash : EvidenceSpan -> String
spanSourceHash (MkEvidenceSpan _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ x _ _) = x

spanVerdict : EvidenceSpan -> String
spanVerdict (MkEvidenceSpan _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ x _) = x

spanTrust : EvidenceSpan -> String
spanTrust (MkEvidenceSpan _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ x) = x

entryId : Candidate -> String
entryId (MkCandidate (MkEntryId x) _ _ _ _ _ _ _ _ _) = x

entryTask : Candidate -> String
entryTask (MkCandidate _ (MkTaskId x) _ _ _ _ _ _ _ _) = x

entryType : Candidate -> String
entryType (MkCandidate _ _ x _ _ _ _ _ _ _) = x

entryTitle : Candidate -> String
entryTitle (MkCandidate _ _ _ x _ _ _ _ _ _) = x

entryConfidence : Candidate -> Int
entryConfidence (MkCandidate _ _ _ _ x _ _ _ _ _) = x

entryPieces : Candidate -> Int
entryPieces (MkCandidate _ _ _ _ _ x _ _ _ _) = x

entryUnreadable : Candidate -> Int
entryUnreadable (MkCandidate _ _ _ _ _ _ x _ _ _) = x

entryClaims : Candidate -> List String
entryClaims (MkCandidate _ _ _ _ _ _ _ x _ _) = x

entryStated : Candidate -> List String
entryStated (MkCandidate _ _ _ _ _ _ _ _ x _) = x

entryEvidence : Candidate -> List EvidenceSpan
entryEvidence (MkCandidate _ _ _ _ _ _ _ _ _ spans) = spans

filled : String -> Bool
filled x = not (x == "")

same : String -> String -> Bool
same x y = x == y

equal : Int -> Int -> Bool
equal x y = x == y

below : Int -> Int -> Bool
below x y = x < y

atMost : Int -> Int -> Bool
atMost x y = x <= y

occurs : String -> List String -> Bool
occurs x [] = False
occurs x (y :: ys) = x == y || occurs x ys

among : List String -> List String -> Bool
among [] ys = True
among (x :: xs) ys = occurs x ys && among xs ys

identified : Candidate -> Bool
identified x = filled (entryId x)

typed : Candidate -> Bool
typed x = among [entryType x] (the (List String) ["fact", "decision", "insight", "task_note", "reference"])

titled : Candidate -> Bool
titled x = filled (entryTitle x)

confident : Candidate -> Bool
confident x = atMost (the Int 0) (entryConfidence x) && atMost (entryConfidence x) (the Int 1000000)

evidenced : Candidate -> Bool
evidenced x = below (the Int 0) (entryPieces x)

readable : Candidate -> Bool
readable x = equal (entryUnreadable x) (the Int 0)

claimed : Candidate -> Bool
claimed x = among (entryClaims x) (entryStated x)

found : EvidenceSpan -> Bool
found x = equal (spanFound x) (the Int 1)

event : EvidenceSpan -> Bool
event x = filled (spanEvent x)

message : EvidenceSpan -> Bool
message x = atMost (the Int 0) (spanMessage x)

ordered : EvidenceSpan -> Bool
ordered x = atMost (the Int 0) (spanStart x) && below (spanStart x) (spanEnd x)

inside : EvidenceSpan -> Bool
inside x = atMost (spanEnd x) (spanSize x)

runes : EvidenceSpan -> Bool
runes x = equal (spanRuneStart x) (spanRunesToStart x) && equal (spanRuneEnd x) (spanRunesToEnd x)

text : EvidenceSpan -> Bool
text x = same (spanText x) (spanSource x)

quote : EvidenceSpan -> Bool
quote x = same (spanQuoted x) (spanHeld x)

sentences : EvidenceSpan -> Bool
sentences x = same (spanVerdict x) (the String "proven")

trusted : EvidenceSpan -> Bool
trusted x = among [spanTrust x] (the (List String) ["user", "assistant"])

source : EvidenceSpan -> Bool
source x = same (spanStoredHash x) (spanSourceHash x)

data Proven : EvidenceSpan -> Type where
  MkProven : (x : EvidenceSpan) -> So (found x) -> So (event x) -> So (message x) -> So (ordered x) -> So (inside x) -> So (runes x) -> So (text x) -> So (quote x) -> So (sentences x) -> So (trusted x) -> So (source x) -> Proven x

data AllProven : List EvidenceSpan -> Type where
  None : AllProven []
  And : {x : EvidenceSpan} -> {xs : List EvidenceSpan} -> Proven x -> AllProven xs -> AllProven (x :: xs)

data Verified : Candidate -> Type where
  MkVerified : (x : Candidate) -> So (identified x) -> So (typed x) -> So (titled x) -> So (confident x) -> So (evidenced x) -> So (readable x) -> So (claimed x) -> AllProven (entryEvidence x) -> Verified x

E0S0 : EvidenceSpan
E0S0 = MkEvidenceSpan (MkEventId (the String "event")) (the Int 1) (the Int 4) (the Int 0) (the Int 34) (the Int 63) (the Int 0) (the Int 34) (the Int 0) (the Int 34) (the String "Backups stay 30 days in ColdStore.") (the String "Backups stay 30 days in ColdStore.") (the String "backups stay 30 days in coldstore.") (the String "backups stay 30 days in coldstore.") (the String "7fb502a3f424d0b0a43d2d3baf55fe1ef6e7f80dd95ec943fd7ebe4dda89f2e5") (the String "7fb502a3f424d0b0a43d2d3baf55fe1ef6e7f80dd95ec943fd7ebe4dda89f2e5") (the String "proven") (the String "user")
e0s0_proven : Proven E0S0
e0s0_proven = MkProven E0S0
  (the (So (found E0S0)) Oh)
  (the (So (event E0S0)) Oh)
  (the (So (message E0S0)) Oh)
  (the (So (ordered E0S0)) Oh)
  (the (So (inside E0S0)) Oh)
  (the (So (runes E0S0)) Oh)
  (the (So (text E0S0)) Oh)
  (the (So (quote E0S0)) Oh)
  (the (So (sentences E0S0)) Oh)
  (the (So (trusted E0S0)) Oh)
  (the (So (source E0S0)) Oh)
E0S1 : EvidenceSpan
E0S1 = MkEvidenceSpan (MkEventId (the String "event")) (the Int 1) (the Int 4) (the Int 35) (the Int 62) (the Int 63) (the Int 35) (the Int 62) (the Int 35) (the Int 62) (the String "The rest goes away at night") (the String "The rest goes away at night") (the String "the rest goes away at night") (the String "the rest goes away at night") (the String "7fb502a3f424d0b0a43d2d3baf55fe1ef6e7f80dd95ec943fd7ebe4dda89f2e5") (the String "7fb502a3f424d0b0a43d2d3baf55fe1ef6e7f80dd95ec943fd7ebe4dda89f2e5") (the String "proven") (the String "user")
e0s1_proven : Proven E0S1
e0s1_proven = MkProven E0S1
  (the (So (found E0S1)) Oh)
  (the (So (event E0S1)) Oh)
  (the (So (message E0S1)) Oh)
  (the (So (ordered E0S1)) Oh)
  (the (So (inside E0S1)) Oh)
  (the (So (runes E0S1)) Oh)
  (the (So (text E0S1)) Oh)
  (the (So (quote E0S1)) Oh)
  (the (So (sentences E0S1)) Oh)
  (the (So (trusted E0S1)) Oh)
  (the (So (source E0S1)) Oh)
E0 : Candidate
E0 = MkCandidate (MkEntryId (the String "entry\x2d\x31")) (MkTaskId (the String "")) (the String "fact") (the String "Backups stay 30 days in ColdStore") (the Int 0) (the Int 2) (the Int 0) (the (List String) ["30", "coldstore"]) (the (List String) ["30", "at", "away", "backups", "coldstore", "days", "goes", "in", "night", "rest", "stay", "the"]) [E0S0, E0S1]
e0_verified : Verified E0
e0_verified = MkVerified E0
  (the (So (identified E0)) Oh)
  (the (So (typed E0)) Oh)
  (the (So (titled E0)) Oh)
  (the (So (confident E0)) Oh)
  (the (So (evidenced E0)) Oh)
  (the (So (readable E0)) Oh)
  (the (So (claimed E0)) Oh)
  (And e0s0_proven (And e0s1_proven None))

E1S0 : EvidenceSpan
E1S0 = MkEvidenceSpan (MkEventId (the String "event")) (the Int 1) (the Int 4) (the Int 0) (the Int 25) (the Int 25) (the Int 0) (the Int 19) (the Int 0) (the Int 19) (the String "Gr\xf6\xdf\x65 \x22\x35\x22 \x7d\x2d\x5c\x7b \x202e\x628\x62a\x21") (the String "Gr\xf6\xdf\x65 \x22\x35\x22 \x7d\x2d\x5c\x7b \x202e\x628\x62a\x21") (the String "gr\xf6sse \x22\x35\x22 \x7d\x2d\x5c\x7b \x628\x62a\x21") (the String "gr\xf6sse \x22\x35\x22 \x7d\x2d\x5c\x7b \x628\x62a\x21") (the String "c25bcb9abceacfe819b08e32b82a155e4858fe5be0b280d3fea68fe5c3387892") (the String "c25bcb9abceacfe819b08e32b82a155e4858fe5be0b280d3fea68fe5c3387892") (the String "proven") (the String "user")
e1s0_proven : Proven E1S0
e1s0_proven = MkProven E1S0
  (the (So (found E1S0)) Oh)
  (the (So (event E1S0)) Oh)
  (the (So (message E1S0)) Oh)
  (the (So (ordered E1S0)) Oh)
  (the (So (inside E1S0)) Oh)
  (the (So (runes E1S0)) Oh)
  (the (So (text E1S0)) Oh)
  (the (So (quote E1S0)) Oh)
  (the (So (sentences E1S0)) Oh)
  (the (So (trusted E1S0)) Oh)
  (the (So (source E1S0)) Oh)
E1 : Candidate
E1 = MkCandidate (MkEntryId (the String "e\x2d\x32")) (MkTaskId (the String "")) (the String "fact") (the String "Gr\xf6\xdf\x65 \x22\x35\x22 \x7d\x2d\x5c\x7b \x202e\x628\x62a") (the Int 0) (the Int 1) (the Int 0) (the (List String) ["5"]) (the (List String) ["5", "gr\xf6sse", "\x628\x62a"]) [E1S0]
e1_verified : Verified E1
e1_verified = MkVerified E1
  (the (So (identified E1)) Oh)
  (the (So (typed E1)) Oh)
  (the (So (titled E1)) Oh)
  (the (So (confident E1)) Oh)
  (the (So (evidenced E1)) Oh)
  (the (So (readable E1)) Oh)
  (the (So (claimed E1)) Oh)
  (And e1s0_proven None)
