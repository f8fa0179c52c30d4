package privacy

// The tests of package privacy_test see these.
const LocalStore = localStore

type ForgetOptions = forgetOptions

var Local = local
