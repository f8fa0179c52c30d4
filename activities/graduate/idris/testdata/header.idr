
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
