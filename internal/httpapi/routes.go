package httpapi

// routes registers all routes of the API, one call for each family of them.
func (a *api) routes() {
	a.eventRoutes()
	a.conversations()
	a.exchanges()
	a.stopping()
	a.prompts()
	a.logs()
	a.offturn()
	a.library()
}
